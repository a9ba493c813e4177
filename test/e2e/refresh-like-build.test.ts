import { test } from 'vitest';
import { tryRefreshes } from '../support/refreshed-sites.ts';
import { temporaryService } from '../support/service.ts';

test('a refresh of 300 random sites gives the same bytes as a build, or changes nothing', async () => {
  const service = await temporaryService({});
  await tryRefreshes(service, 300);
});
