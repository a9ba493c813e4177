import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { type ApiEnvironment, authenticate, type Operation } from './authenticate.ts';
import { type Faults, faultyAnswers } from './faults.ts';
import type { ServiceOptions } from './options.ts';
import { problemKinds, problemSchema, refusalWith } from './problems.ts';
import { idSchema, paramsSchema, parseParams, renderedSchema, snippetSchema } from './schemas.ts';
import type { Store } from './store/index.ts';
import { renderTemplate } from './template.ts';

/** Path prefixes of the two base URLs. Two different prefixes make it fail if a client mixes them up. */
export const retrievePath = '/content/v1';
export const renderPath = '/delivery';

const request = {
  params: z.object({ id: idSchema }),
  query: z.object({ params: paramsSchema }),
};

const failures = Object.fromEntries(
  ([400, 401, 402, 403, 404, 500, 502, 503, 504] as const).map((status) => [
    status,
    {
      description: problemKinds[status].explanation,
      content: { 'application/problem+json': { schema: problemSchema } },
    },
  ]),
);

const variants = {
  retrieve: {
    path: `${retrievePath}/snippets/{id}`,
    summary: 'Retrieve a snippet (variant A)',
    description: 'The snippet.',
    schema: snippetSchema,
  },
  render: {
    path: `${renderPath}/snippets/{id}/render`,
    summary: 'Render a snippet (variant B)',
    description: 'The rendered snippet.',
    schema: renderedSchema,
  },
} as const;

interface ApiParts extends Pick<ServiceOptions, 'random' | 'beforeAnswer'> {
  store: Store;
  faults: Faults;
  /** The website with the pages that explain problems. */
  websiteUrl: string;
}

/**
 * The API: both variants (specification, section 4), and the document that describes them.
 *
 * Both fill in variables, since section 4.1 also calls `params` "variables passed into the snippet".
 */
export function createApi({
  store,
  faults,
  random = Math.random,
  websiteUrl,
  beforeAnswer,
}: ApiParts): OpenAPIHono<ApiEnvironment> {
  const refuse = refusalWith(websiteUrl);
  // Callers cannot tell whether a snippet is missing, not published, or another organization's.
  const notFound = (id: string | undefined) =>
    refuse(404, `There is no published snippet ${id} in this organization.`);
  const api = new OpenAPIHono<ApiEnvironment>({
    // The schemas can only refuse the id.
    defaultHook: (result, context) => (result.success ? undefined : notFound(context.req.param('id'))),
  });

  api.use(async (_context, next) => {
    await beforeAnswer?.();
    return next();
  });
  for (const operation of ['retrieve', 'render'] as const) {
    const { path, summary, description, schema } = variants[operation];
    const success = { description, content: { 'application/json': { schema } } };
    const responses = { 200: success, ...failures };
    const security = [{ apiKey: [] }];
    const route = createRoute({ method: 'get', path, summary, security, request, responses });
    api.use(route.getRoutingPath(), logged(store, operation), faultyAnswers(faults, random, refuse));
    api.use(route.getRoutingPath(), async ({ var: { denial } }, next) =>
      denial ? refuse(denial.status, denial.detail, denial.headers) : next(),
    );
    api.on(['POST', 'PUT', 'PATCH', 'DELETE'], route.getRoutingPath(), () =>
      refuse(405, 'Snippets are only read through the API.', { allow: 'GET, HEAD' }),
    );
    api.openapi(route, async (context) => {
      const { id } = context.req.valid('param');
      const params = parseParams(context.req.valid('query').params);
      if (params === undefined) return refuse(400, 'params is not a JSON object.') as never;
      const { caller } = context.var;
      const snippet = caller && store.snippets.published(caller.organization.id, id);
      if (snippet === undefined) return notFound(context.req.param('id')) as never;
      const { content, error } = await renderTemplate(snippet.content, params);
      if (content === undefined) return refuse(500, `Snippet ${id} has a mistake: ${error}`) as never;
      return context.json(operation === 'render' ? { content } : { id, name: snippet.name, content }, 200);
    });
  }

  api.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', { type: 'http', scheme: 'bearer' });
  api.doc31('/openapi.json', (context) => ({
    openapi: '3.1.0',
    info: { title: 'Snippet Delivery Service', version: '1' },
    servers: [{ url: new URL(context.req.url).origin }],
  }));

  for (const prefix of [retrievePath, renderPath]) {
    api.all(`${prefix}/*`, ({ req }) => refuse(404, `There is nothing at ${req.path}.`));
  }
  return api;
}

/** Authenticates the caller, and logs the request with its answer. */
function logged(store: Store, operation: Operation): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    const start = performance.now();
    const authorization = context.req.header('authorization');
    const { caller, denial } = authenticate(store, authorization, operation);
    context.set('caller', caller);
    context.set('denial', denial);
    await next();
    const secret = /^Bearer (\S+)/.exec(authorization ?? '')?.[1];
    // The website shows the log, but must not show keys.
    const withoutKey = (text: string) => (secret === undefined ? text : text.replaceAll(secret, '[API key]'));
    const params = context.req.query('params');
    store.requests.add({
      at: new Date().toISOString(),
      organizationId: caller?.organization.id ?? null,
      keyId: caller?.key.id ?? null,
      variant: operation,
      snippetId: withoutKey(context.req.param('id') ?? ''),
      params: params === undefined ? null : withoutKey(params),
      status: context.res.status,
      milliseconds: performance.now() - start,
      userAgent: withoutKey(context.req.header('user-agent') ?? '').slice(0, 200),
    });
  };
}
