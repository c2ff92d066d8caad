// ---- the first look at a recording -------------------------------------------------------------------------------

listKernels();
putNearest();
putFindings();
showDispatchesOf(null);
const asked = location.hash.match(/^#kernel=(\d+)$/);
if (asked && Number(asked[1]) < K.short.length) choose(Number(asked[1]), true);
document.documentElement.dataset.ready = "true";
