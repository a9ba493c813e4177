const policy = 'Astro has its Content Security Policy, experimental.csp, from 5.9 on';
const starlight = 'Starlight for Astro 7 needs 7.0.2';

/** The files of tests that a version of Astro cannot run, by its folder, with the reason. */
export const leftOut: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '5.0': {
    'test/promises/content-security-policy.test.ts': policy,
    'test/e2e/promises/content-security-policy.test.ts': policy,
    'test/settings/route-files.test.ts': policy,
    'test/e2e/integration/edit-links-in-browser.test.ts': policy,
  },
  '7.0': {
    'test/integration/markdoc.test.ts': 'Markdoc 2.0.0 renders nothing there: ERR_UNSUPPORTED_ESM_URL_SCHEME',
    'test/e2e/integration/examples-stay.test.ts': starlight,
    'test/e2e/templates.test.ts': starlight,
  },
};

/** What a version of Astro leaves out, as lines for a log. */
export const leftOutLines = (version: string): string[] =>
  Object.entries(leftOut[version] ?? {}).map(
    ([file, reason]) => `Left out with Astro ${version}: ${file}. ${reason}.`,
  );
