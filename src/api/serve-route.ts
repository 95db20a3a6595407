import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { lockHostNames, lockOperation, lockRow } from '../database/lock.ts';
import { Failure, PreconditionFailed } from '../lib/failures.ts';
import { codingFor, compress } from './compression.ts';
import { routeSchema } from './description.ts';
import { codedTag, entityTag, isMatch, isNoneMatch } from './entity-tags.ts';
import { errorAnswer } from './errors.ts';
import type { Gate } from './gate.ts';
import type { FirstAnswer, Idempotency, StoredAnswer } from './idempotency.ts';
import { UnreadableBody } from './json-body.ts';
import { API_PREFIX } from './prefixes.ts';
import { ReceivedCall } from './received-call.ts';
import { parseTarget } from './request-target.ts';
import { type IncomingCall, type Route, returnsResource, Started } from './route.ts';
import { SharedAnswer } from './shared-answer.ts';
import { StreamedAnswer } from './stream-route.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Errors that a repetition of the request may not get again. */
const PASSING: readonly number[] = [401, 412, 429];
/** Longer error answers are not kept: nothing was done, and a repetition is refused again. In characters. */
const LONGEST_KEPT_ERROR = 4_096;

/** Dependencies of served endpoints. */
export interface ServingParts {
  /** Begins the links in answers. */
  publicUrl: string;
  gate: Pick<Gate, 'reauthenticate'>;
  /** Without it, `Idempotency-Key` and `If-Match` are ignored. */
  idempotency?: Idempotency;
}

/** Registers a declared endpoint. */
export function serveRoute(
  app: FastifyInstance,
  route: Route,
  { publicUrl, gate, idempotency }: ServingParts,
): void {
  // One object, so that its serialiser is compiled once.
  const resourceSchema = route.resource?.response && { ...route.resource.response };
  app.route({
    method: route.method,
    url: route.path,
    config: { route },
    schema: routeSchema(route),
    // A HEAD request would start a stream that no one reads.
    exposeHeadRoute: route.contentType === undefined,
    async handler(request, reply) {
      if (request.body instanceof UnreadableBody) throw request.body.failure;
      if (idempotency !== undefined && isCareful(route, request)) {
        const tagOfResource = (answer: unknown) => {
          const body = bodyOf(answer);
          const members = typeof body === 'object' ? { ...body } : {};
          return entityTag(reply.compileSerializationSchema(resourceSchema ?? {})(members));
        };
        return sendCarefully({ route, publicUrl, gate, idempotency, tagOf: tagOfResource }, request, reply);
      }
      const call = new ReceivedCall(gate, request, reply);
      const answer = await route.run(call, publicUrl);
      reply.code(route.success);
      if (answer instanceof StreamedAnswer) {
        return reply
          .type(answer.type ?? route.contentType ?? '')
          .headers(answer.headers)
          .send(answer.body);
      }
      if (route.method === 'GET') return sendRead(route, request, reply, answer);
      const location = locationOf(route, answer, call);
      if (location !== null) reply.header('location', location);
      if (returnsResource(route)) {
        const text = reply.serialize(bodyOf(answer));
        return reply
          .header('etag', entityTag(String(text)))
          .type(JSON_TYPE)
          .send(text);
      }
      return reply.send(bodyOf(answer));
    },
  });
}

/** The operation that a request started, or what it created. */
function locationOf({ location }: Route, answer: unknown, { params }: IncomingCall): string | null {
  if (answer instanceof Started) {
    return answer.operationId === null ? null : `${API_PREFIX}/operations/${answer.operationId}`;
  }
  return location === undefined ? null : `${API_PREFIX}${location(answer, params)}`;
}

const bodyOf = (answer: unknown): unknown =>
  answer instanceof Started || answer instanceof SharedAnswer ? answer.body : answer;

/** Answers a GET: 304 if the client has the current body, and in a content coding if that saves something. */
function sendRead(route: Route, { headers }: FastifyRequest, reply: FastifyReply, answer: unknown): unknown {
  const accepted = headers['accept-encoding'];
  const mayCompress = accepted !== undefined && route.isCompressed === true;
  if (!mayCompress && route.entityTag !== true && !(answer instanceof SharedAnswer))
    return reply.send(answer);
  const text = textOf(answer, reply);
  const tag = route.entityTag === true ? tagOf(answer, text) : undefined;
  const known = headers['if-none-match'];
  if (tag !== undefined && known !== undefined && isNoneMatch(known, tag)) {
    return reply.code(304).header('etag', tag).send();
  }
  reply.type(JSON_TYPE);
  const coding = mayCompress ? codingFor(accepted, text) : undefined;
  if (coding === undefined) {
    if (tag !== undefined) reply.header('etag', tag);
    return reply.send(text);
  }
  reply.header('content-encoding', coding).header('vary', 'Accept-Encoding');
  if (tag !== undefined) reply.header('etag', codedTag(tag, coding));
  return compress(text, coding).then((compressed) => reply.send(compressed));
}

function textOf(answer: unknown, reply: FastifyReply): string {
  const serialize = (body: unknown) => String(reply.serialize(body));
  return answer instanceof SharedAnswer ? answer.text(serialize) : serialize(answer);
}

const tagOf = (answer: unknown, text: string): string =>
  answer instanceof SharedAnswer ? answer.tag(text) : entityTag(text);

/** Whether a request uses a header that its change must be carried out with. */
function isCareful(
  { method, resource, idempotencyKey }: Route,
  { headers, caller }: FastifyRequest,
): boolean {
  if (method === 'GET' || caller === undefined) return false;
  return (
    (headers['idempotency-key'] !== undefined && idempotencyKey === true) ||
    (resource !== undefined && headers['if-match'] !== undefined)
  );
}

interface CarefulRoute extends ServingParts {
  route: Route;
  idempotency: Idempotency;
  /** The entity tag of an answer of the route's resource. */
  tagOf(answer: unknown): string;
}

/** Carries out a change under its `Idempotency-Key` and `If-Match`. */
async function sendCarefully(
  { route, publicUrl, gate, idempotency, tagOf }: CarefulRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { headers, method, url: target, body } = request;
  const caller = callerOf(request);
  const call = new ReceivedCall(gate, request, reply);
  const ifMatch = headers['if-match'];
  const { resource } = route;

  /** Throws PreconditionFailed if the resource has another tag than `If-Match`. */
  async function requireMatch(within?: Queries): Promise<void> {
    if (ifMatch === undefined || resource === undefined) return;
    // Without the query: an answer must not be held in a transaction.
    const { path } = parseTarget(call.target);
    const reading = call.with({
      target: path,
      body: undefined,
      caller: { ...caller, ...(within && { within }) },
    });
    if (!isMatch(ifMatch, tagOf(await resource.run(reading, publicUrl)))) throw new PreconditionFailed();
  }

  let failure: Failure | undefined;

  /** Answers with failures. Throws unexpected errors. */
  async function work(claim?: Caller['begin']): Promise<FirstAnswer> {
    failure = undefined;
    let hasBegun = false;
    const begin = async (transaction: Transaction) => {
      await claim?.(transaction);
      if (hasBegun || ifMatch === undefined || resource === undefined) return;
      await lockAround(transaction, call);
      await requireMatch(transaction.queries);
      transaction.afterCommit(() => {
        hasBegun = true;
      });
    };
    try {
      // Before anything slow. The first transaction checks again, under locks.
      await requireMatch();
      const answer = await route.run(call.with({ caller: { ...caller, begin } }), publicUrl);
      const location = locationOf(route, answer, call);
      reply.code(route.success);
      const text = route.response === undefined ? null : String(reply.serialize(bodyOf(answer)));
      return { status: route.success, location, body: text, isFinal: true };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error;
      const { status, envelope } = errorAnswer(error, route.errors);
      const text = JSON.stringify(envelope);
      const isFinal = status < 500 && !PASSING.includes(status) && text.length <= LONGEST_KEPT_ERROR;
      return { status, location: null, body: text, isFinal };
    }
  }

  const key = route.idempotencyKey ? headers['idempotency-key'] : undefined;
  if (key === undefined) {
    const answer = await work();
    if (failure) throw failure;
    return sendStored(route, reply, answer);
  }
  const ownerId = caller.origin.credentialId ?? caller.userId;
  const keyed = { ownerId, userId: caller.userId, key: String(key), method, target, body };
  const { answer, isReplayed } = await idempotency.once(keyed, work);
  if (isReplayed) reply.header('idempotent-replayed', 'true');
  else if (failure) throw failure;
  return sendStored(route, reply, answer);
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === undefined) throw new Error('a request passed the gate without a caller');
  return caller;
}

function sendStored(route: Route, reply: FastifyReply, { status, location, body }: StoredAnswer): unknown {
  reply.code(status);
  if (location !== null) reply.header('location', location);
  if (body === null) return reply.send();
  if (status === route.success && returnsResource(route)) reply.header('etag', entityTag(body));
  return reply.type(JSON_TYPE).send(body);
}

/**
 * Serializes conditional changes on PostgreSQL, and stops other changes of the resource until the commit. Services take these locks in
 * the same order.
 */
async function lockAround(transaction: Transaction, { params, caller }: IncomingCall): Promise<void> {
  await lockHostNames(transaction);
  const { account_id, site_id, install_id, webhook_id, operation_id } = params;
  if (install_id !== undefined) await lockRow(transaction, 'installs', install_id);
  else if (site_id !== undefined) await lockRow(transaction, 'sites', site_id);
  else if (account_id !== undefined) await lockRow(transaction, 'accounts', account_id);
  else if (webhook_id !== undefined) await lockRow(transaction, 'webhooks', webhook_id);
  else if (operation_id !== undefined) await lockOperation(transaction, operation_id);
  // What belongs to no other resource is the caller's own.
  else if (caller !== null) await lockRow(transaction, 'users', caller.userId);
}
