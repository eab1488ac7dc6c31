// Each page of JupyterLite loads this first: it shows how far the tab has loaded, says what a browser blocks, and leads home.
// JupyterLab needs room: on a narrow screen the plain notebook app opens instead.
if (innerWidth < 800 && location.pathname.includes("/lab/")) location.replace(location.href.replace("/lab/", "/notebooks/"));
else {
  const STYLE = `
    .added { position: fixed; z-index: 20; font: 13px system-ui, sans-serif; padding: 2px 8px; border-radius: 4px;
      color: var(--jp-ui-font-color1, #1f1f1f); background: var(--jp-layout-color1, white); }
    #home { left: 0; right: 0; bottom: 0; height: 32px; box-sizing: border-box; padding: 6px 14px; text-align: right; border-radius: 0;
      border-top: 1px solid var(--jp-border-color2, #ccc); }
    #home a { color: var(--jp-content-link-color, #1565c0); padding: 4px 0; }
    #home ~ #main, #main:has(~ #home) { bottom: 32px !important; height: calc(100vh - 32px) !important; min-height: 0 !important; }
    .lab #home { left: auto; right: 14px; top: 3px; bottom: auto; height: auto; padding: 2px 8px; border: 0; }
    .lab #home ~ #main, .lab #main:has(~ #home) { bottom: 0 !important; height: 100vh !important; }
    .jp-NotebookTrustedStatus { white-space: nowrap; }
    #loading { left: 50%; bottom: 24px; transform: translateX(-50%); width: min(330px, 90vw); box-sizing: border-box; padding: 12px 16px;
      box-shadow: 0 1px 8px #0006; pointer-events: none; }
    #loading progress { width: 100%; margin-top: 6px; accent-color: #007a5a; }
    #blocked { left: 0; right: 0; top: 0; padding: 8px 14px; color: #1f1f1f; background: #ffe9a8; }`;
  const USUAL = 30; // files that Python's start loads
  const QUIET = 1500; // milliseconds without a new file, after which an import has loaded
  const STORAGE = "This browser blocks storage for this site: your work is lost when you close the tab. Allow it, or leave private browsing.";
  const SECURE = "Your progress can't be kept here: open this site by https, or leave private browsing.";
  let files = 0, ready = false, timer;

  const add = (id, innerHTML) => document.body.appendChild(Object.assign(document.createElement("div"), { id, className: "added", innerHTML }));
  const loading = (text) => {
    const shown = document.getElementById("loading") ?? add("loading", '<span role="status"></span><progress aria-label="Loading"></progress>');
    shown.hidden = !text;
    shown.querySelector("span").textContent = text;
    if (files && !ready) shown.querySelector("progress").value = Math.min(files / USUAL, 0.98);
    else shown.querySelector("progress").removeAttribute("value");
  };

  /** Python has asked for a file: for its start, or later for an import. */
  new BroadcastChannel("loaded").onmessage = ({ data: url }) => {
    files += 1;
    const name = /(\w+?)-\d[^/]*\.whl/.exec(url)?.[1];
    if (!ready || !name) return;
    loading(`Loading ${name} …`);
    clearTimeout(timer);
    timer = setTimeout(loading, QUIET, "");
  };

  /** Look at the kernel of the open notebook until it is idle; a page without a notebook has none after a quarter of a minute. */
  const watch = (tries = 0) => {
    const session = window.jupyterapp?.shell?.currentWidget?.sessionContext;
    ready = session?.session?.kernel?.status === "idle" || (window.jupyterapp && !session && tries > 60);
    loading(ready ? "" : `${window.jupyterapp ? "Starting Python" : "Loading Jupyter"}. The first time, this takes half a minute.`);
    if (!ready) setTimeout(watch, 250, tries + 1);
  };

  /** What was typed is saved a second after the last key, and kept when the page is left or another comes before it. */
  const save = () => window.jupyterapp?.commands.execute("docmanager:save-all").catch(() => {});
  let typed;
  addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(save, 1000);
  }, true);
  addEventListener("beforeunload", (event) => keepLeft() && event.stopImmediatePropagation(), true); // Jupyter would ask
  addEventListener("pagehide", keepLeft);
  addEventListener("visibilitychange", () => document.hidden && (keepLeft(), save()));

  addEventListener("DOMContentLoaded", async () => {
    document.documentElement.classList.add(location.pathname.split("/").at(-2));
    document.head.appendChild(document.createElement("style")).textContent = STYLE;
    add("home", '<a href="../../index.html">All lessons</a>');
    watch();
    if (!navigator.serviceWorker) add("blocked", SECURE);
    try {
      await new Promise((done, failed) => Object.assign(indexedDB.open("planexec-probe"), { onsuccess: done, onerror: failed }));
    } catch {
      add("blocked", STORAGE);
    }
  });
}
