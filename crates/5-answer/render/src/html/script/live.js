// ---- a page from a server: filters apply at once, and a folder that changes is read again ------------------------

const live = document.querySelector("form.live");
if (live) {
  all("select", live).forEach((it) => it.addEventListener("change", () => live.requestSubmit()));
  const state = byId("live-state");
  const ask = async () => {
    try {
      const answer = await fetch(live.dataset.url, { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      state.classList.remove("stale");
      state.textContent = "follows the folder";
      if ((await answer.text()) !== live.dataset.version) location.reload();
    } catch {
      state.classList.add("stale");
      state.textContent = "the server has ended; this is what it last sent";
    }
  };
  setInterval(ask, 1500);
}
