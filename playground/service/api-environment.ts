import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import type { Caller } from './authenticate.ts';

/** What a request of the API carries on its way. */
export interface ApiEnvironment {
  Bindings: HttpBindings | Http2Bindings;
  Variables: {
    /** Where the service was reached; a problem's `type` leads back there. */
    origin: string;
    caller?: Caller;
  };
}
