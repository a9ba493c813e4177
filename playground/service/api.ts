import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { ApiEnvironment } from './api-environment.ts';
import { authenticate, type Operation } from './authenticate.ts';
import { type Faults, faultyAnswers } from './faults.ts';
import { problemKinds, problemResponse, problemSchema } from './problems.ts';
import { idSchema, paramsSchema, parseParams, renderedSchema, snippetSchema } from './schemas.ts';
import type { Store } from './store/index.ts';
import { renderTemplate, TemplateError } from './template.ts';

/** Path prefixes of the two base addresses: two, so that whoever mixes them up finds out. */
export const retrievePath = '/content/v1';
export const renderPath = '/delivery';

type ApiContext = Context<ApiEnvironment>;

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

export interface ApiParts {
  store: Store;
  faults: Faults;
  random: () => number;
  /** Where the pages are that explain the problems. */
  websiteUrl: string;
  /** Awaited before each answer. */
  beforeAnswer?: (() => Promise<unknown>) | undefined;
}

/**
 * The interface of the service: both variants (specification, section 4) and the document that describes them.
 *
 * Both fill in the variables: section 4.1 too calls `params` "variables passed into the snippet".
 */
export function createApi({
  store,
  faults,
  random,
  websiteUrl,
  beforeAnswer,
}: ApiParts): OpenAPIHono<ApiEnvironment> {
  const api = new OpenAPIHono<ApiEnvironment>({
    // The only thing a schema can refuse is the id.
    defaultHook: (result, context) => (result.success ? undefined : notFound(context as ApiContext)),
  });

  api.use(async (context, next) => {
    context.set('websiteUrl', websiteUrl);
    await beforeAnswer?.();
    return next();
  });
  for (const operation of ['retrieve', 'render'] as const) {
    const { path, summary, description, schema } = variants[operation];
    const success = { description, content: { 'application/json': { schema } } };
    const responses = { 200: success, ...failures };
    const security = [{ apiKey: [] }];
    const route = createRoute({ method: 'get', path, summary, security, request, responses });
    api.use(route.getRoutingPath(), logged(store, operation), faultyAnswers(faults, random), guarded);
    api.on(['POST', 'PUT', 'PATCH', 'DELETE'], route.getRoutingPath(), (context) =>
      problemResponse(context.var.websiteUrl, 405, 'Snippets are only read through the API.', {
        allow: 'GET, HEAD',
      }),
    );
    api.openapi(route, async (context) => {
      const { id } = context.req.valid('param');
      const found = await contentOf(store, context, id, context.req.valid('query').params);
      if (found instanceof Response) return found as never;
      return context.json(operation === 'render' ? { content: found.content } : { id, ...found }, 200);
    });
  }

  api.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', { type: 'http', scheme: 'bearer' });
  api.doc31('/openapi.json', (context) => ({
    openapi: '3.1.0',
    info: { title: 'Snippet Delivery Service', version: '1' },
    servers: [{ url: new URL(context.req.url).origin }],
  }));

  for (const prefix of [retrievePath, renderPath]) {
    api.all(`${prefix}/*`, (context) =>
      problemResponse(context.var.websiteUrl, 404, `There is nothing at ${context.req.path}.`),
    );
  }
  return api;
}

/** The filled-in content of a published snippet of the caller's organization, or the answer that says why not. */
async function contentOf(
  store: Store,
  context: ApiContext,
  id: number,
  text: string | undefined,
): Promise<{ name: string; content: string } | Response> {
  const { websiteUrl, caller } = context.var;
  const params = parseParams(text);
  if (params === undefined) return problemResponse(websiteUrl, 400, 'params is not a JSON object.');
  const snippet = caller && store.snippets.published(caller.organization.id, id);
  if (snippet === undefined) return notFound(context);
  try {
    return { name: snippet.name, content: await renderTemplate(snippet.content, params) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return problemResponse(websiteUrl, 500, `Snippet ${id} has a mistake: ${error.message}`);
  }
}

/** The same for a snippet that is not there, is not published, or is another organization's. */
function notFound(context: ApiContext): Response {
  const id = context.req.param('id');
  return problemResponse(
    context.var.websiteUrl,
    404,
    `There is no published snippet ${id} in this organization.`,
  );
}

async function guarded({ var: { denial, websiteUrl } }: ApiContext, next: () => Promise<void>) {
  if (denial !== undefined) return problemResponse(websiteUrl, denial.status, denial.detail, denial.headers);
  await next();
  return undefined;
}

function logged(store: Store, operation: Operation) {
  return async (context: ApiContext, next: () => Promise<void>): Promise<void> => {
    const start = performance.now();
    const answer = authenticate(store, context.req.header('authorization'), operation);
    // Also of a request that a fault answers.
    const caller = 'status' in answer ? answer.caller : answer;
    if (caller !== undefined) context.set('caller', caller);
    if ('status' in answer) context.set('denial', answer);
    await next();
    const secret = /^Bearer (\S+)/.exec(context.req.header('authorization') ?? '')?.[1];
    // The log is shown on the website, which shows no key.
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
