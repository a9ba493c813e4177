import { expect, test } from 'vitest';
import { routeFiles } from '../../src/settings/site-urls.ts';

test.for([
  ['/', ['index.html']],
  ['/base/', ['index.html']],
  ['/base/about/', ['about/index.html', 'about.html']],
  ['/about.html', ['about.html']],
  ['/caf%C3%A9', ['café/index.html', 'café.html', 'caf%C3%A9/index.html', 'caf%C3%A9.html']],
  ['/100%/', ['100%/index.html', '100%.html', '100%25/index.html', '100%25.html']],
  ['/100%25', ['100%/index.html', '100%.html', '100%25/index.html', '100%25.html']],
] as const)('a page with the path %s may be in %s', ([path, files]) => {
  expect(routeFiles(path, '/base')).toEqual(files);
});
