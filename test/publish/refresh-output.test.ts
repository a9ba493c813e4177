import { expect, test } from 'vitest';
import { reportRefresh } from '../../src/cli/refresh-output.ts';
import { testContext } from '../support/cli.ts';

test.for([{}, { afterStatus: 0 }])(
  'a page that is changed while the others are written needs a build, also after --after: %j',
  (result) => {
    const { context, stdout } = testContext('/site');
    const toBuild = [{ name: 'b.html', reason: 'was changed while it was refreshed' }];
    const status = reportRefresh(context.terminal, { written: ['a.html'], toBuild, ...result }, {});
    expect(status).toBe(3);
    expect(stdout()).toBe(`a.html is up to date
b.html was changed while it was refreshed
The other pages are written. Build the site to update the rest.
`);
  },
);
