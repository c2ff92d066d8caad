// ---- the first look at a recording -------------------------------------------------------------------------------

listKernels();
putNearest();
putFindings();
showDispatchesOf(null);
const asked = location.hash.match(/^#kernel=(\d+)$/);
if (asked && Number(asked[1]) < K.short.length) choose(Number(asked[1]), true);

/** Shows the section that the address names: the browser went there before rows were listed and figures had their sizes. */
function goToAnchor() {
  const section = /^#[\w-]+$/.test(location.hash) ? byId(location.hash.slice(1)) : null;
  if (!section) return;
  let tries = 0;
  const go = () => {
    section.scrollIntoView({ block: "start", behavior: "instant" });
    const from = section.getBoundingClientRect().top;
    tries += 1;
    if (tries < 20) requestAnimationFrame(() => { if (tries < 3 || section.getBoundingClientRect().top !== from) go(); });
  };
  go();
}
goToAnchor();
addEventListener("load", goToAnchor);
document.documentElement.dataset.ready = "true";
