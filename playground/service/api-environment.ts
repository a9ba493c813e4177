import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import type { Caller, Denial } from './authenticate.ts';

/** What a request of the API carries on its way. */
export interface ApiEnvironment {
  Bindings: HttpBindings | Http2Bindings;
  Variables: {
    /** Where a problem's `type` leads. */
    websiteUrl: string;
    caller?: Caller;
    denial?: Denial;
  };
}
