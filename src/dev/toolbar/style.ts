/** The style sheet of the app, in the dark colors of Astro's own apps. */
export const style = `
  astro-dev-toolbar-window {
    color-scheme: dark;
    max-height: min(560px, 66vh);
    /* Above the outlines, below the bar. */
    z-index: 2000000001;
    overflow-y: auto;
  }
  @media (max-width: 640px) {
    astro-dev-toolbar-window {
      left: 0;
      right: 0;
      width: auto;
      transform: none;
      padding: 16px;
    }
  }
  [hidden] { display: none !important; }
  h1 { font-size: 22px; margin: 0 0 16px; color: #fff; }
  ul { display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px; list-style: none; margin: 0; padding: 0; }
  astro-dev-toolbar-card { display: block; }
  h2 { font-size: 16px; line-height: 1.4; margin: 0 0 4px; color: #fff; overflow-wrap: anywhere; }
  p { font-size: 14px; line-height: 1.5; margin: 0 0 8px; overflow-wrap: anywhere; }
  .params { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
  .error, [role='status'] { color: #ff9d9d; }
  .buttons { display: flex; flex-wrap: wrap; gap: 8px; }
  [role='status'] { margin: 8px 0 0; }
  [role='status']:empty { margin: 0; }
  astro-dev-toolbar-highlight { box-sizing: border-box; pointer-events: none; }
`;
