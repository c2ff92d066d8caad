// ---- the first look at a trace -----------------------------------------------------------------------------------

document.documentElement.dataset.ready = "true";
