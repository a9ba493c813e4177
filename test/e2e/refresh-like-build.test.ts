import { test } from 'vitest';
import { temporaryService } from '../support/service/service.ts';
import { tryRefreshes } from '../support/site/refreshed-sites.ts';

test('a refresh of 300 random sites gives the same bytes as a build, or changes nothing', async () => {
  const service = await temporaryService({});
  await tryRefreshes(service, 300);
});
