import { test } from 'vitest';
import { temporaryService } from '../support/service/service.ts';
import { tryRefreshes } from '../support/site/refreshed-sites.ts';
import { runs } from '../support/tools/property.ts';

// test/e2e tries more sites.
test('a refresh of random sites gives the same bytes as a build, or changes nothing', async () => {
  const service = await temporaryService({});
  await tryRefreshes(service, runs(30));
});
