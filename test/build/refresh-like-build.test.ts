import { test } from 'vitest';
import { runs } from '../support/property.ts';
import { tryRefreshes } from '../support/refreshed-sites.ts';
import { temporaryService } from '../support/service.ts';

// test/e2e tries more sites.
test('a refresh of random sites gives the same bytes as a build, or changes nothing', async () => {
  const service = await temporaryService({});
  await tryRefreshes(service, runs(30));
});
