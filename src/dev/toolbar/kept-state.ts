/// <reference lib="dom" />

/** What is open and typed for one snippet. */
export interface RowState {
  /** The parts that are open. */
  open: string[];
  /** What was typed, by the kind of the field. */
  typed: Record<string, string>;
}

/** What has to survive a page that loads again by itself, as it does when what it shows has changed. */
export interface AppState {
  scrollTop: number;
  /** By the keys of snippets. */
  rows: Record<string, RowState>;
  /** The control that has the focus. */
  focus?: { key: string; control: string } | undefined;
}

const name = 'astro-snippets:toolbar';

/** Keeps the state of an open window from `pagehide` until this tab has loaded the page again. */
export function keepState(stateOf: () => AppState | undefined): void {
  addEventListener('pagehide', () => {
    const state = stateOf();
    if (state === undefined) return;
    try {
      sessionStorage.setItem(name, JSON.stringify({ page: location.pathname, state }));
    } catch {
      // Too large, or not allowed. The window is closed then.
    }
  });
}

/** Returns what was kept, once; `undefined` where the page has not loaded again. */
export function takeState(): AppState | undefined {
  try {
    const kept = sessionStorage.getItem(name);
    sessionStorage.removeItem(name);
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    if (kept === null || navigation?.type !== 'reload') return undefined;
    const { page, state } = JSON.parse(kept);
    return page === location.pathname ? state : undefined;
  } catch {
    return undefined;
  }
}
