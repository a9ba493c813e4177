import { test } from 'vitest';
import { tryRefreshes } from '../support/refreshed-sites.ts';
import { temporaryService } from '../support/service.ts';

test('a refresh of any of 300 sites to any contents leaves the bytes of a build, or changes nothing', async () => {
  const service = await temporaryService({});
  await tryRefreshes(service, 300);
});
