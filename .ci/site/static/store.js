// What the learner did, as JupyterLite keeps it in this browser. Pages of the site and of JupyterLite load this first.

const PROJECT = "planexec-lite"; // also contentsStorageName of jupyter-lite.json, the name of its database
const LEFT = "planexec-left:"; // and a path: a file that was not saved yet when its page was left

/** Do some work in JupyterLite's store, and return what it returned; a browser that blocks storage rejects. */
async function inStore(mode, work) {
  const settled = (request) =>
    new Promise((done, failed) => Object.assign(request, { onsuccess: done, oncomplete: done, onerror: () => failed(request.error) }));
  const request = indexedDB.open(PROJECT);
  request.onupgradeneeded = () => request.result.createObjectStore("files");
  await settled(request);
  const database = request.result;
  try {
    if (!database.objectStoreNames.contains("files")) return { result: [] };
    const transaction = database.transaction("files", mode);
    const result = work(transaction.objectStore("files"));
    await settled(transaction);
    return result;
  } finally {
    database.close();
  }
}

/** Keep at once what is not saved yet, because saving takes longer than a page has that is left; return whether all was kept. */
function keepLeft() {
  try {
    for (const { context } of window.jupyterapp?.shell.widgets("main") ?? []) {
      if (!context?.contentsModel) continue;
      const { model, path, contentsModel } = context;
      const content = () => (contentsModel.format === "json" ? model.toJSON() : model.toString());
      const entry = () => JSON.stringify({ ...contentsModel, path, content: content(), last_modified: new Date().toISOString() });
      if (model.dirty) localStorage.setItem(LEFT + path, entry());
      else localStorage.removeItem(LEFT + path);
    }
    return true;
  } catch {
    return false; // the browser blocks storage, or the file is too large for it
  }
}

/** Move what was kept into the store, but for files that were saved later. */
async function restoreLeft() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(LEFT));
  if (!keys.length) return;
  const left = keys.map((key) => JSON.parse(localStorage.getItem(key)));
  await inStore("readwrite", (store) => {
    for (const entry of left)
      store.get(entry.path).onsuccess = ({ target }) => {
        if (!(target.result?.last_modified > entry.last_modified)) store.put(entry, entry.path);
      };
  });
  for (const key of keys) localStorage.removeItem(key);
}

const restored = Promise.resolve().then(restoreLeft).catch(() => {});
