import { test } from 'vitest';
import { runs } from '../support/property.ts';
import { tryRefreshes } from '../support/refreshed-sites.ts';
import { temporaryService } from '../support/service.ts';

// test/e2e tries ten times as many.
test('a refresh of any site to any contents leaves the bytes of a build, or changes nothing', async () => {
  const service = await temporaryService({});
  await tryRefreshes(service, runs(30));
});
