import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Order } from 'acme-client';
import type { Logger } from 'pino';
import type { CertificateRequest, IssuedCertificate } from './authority.ts';
import { createCertificateRequest, readIssued } from './issued-certificate.ts';
import { parseProblem, refusalOf } from './problem.ts';
import { AcmeRefusal, ERROR_NAMESPACE } from './refusal.ts';
import type { AcmeSession } from './session.ts';
import {
  type Authorization,
  authorizationSchema,
  type HttpChallenge,
  httpChallengeSchema,
  orderSchema,
  parsed,
} from './wire.ts';

/** First and longest wait between two looks at what the authority is working on. */
const POLL_MS = { first: 100, longest: 5000 };

/** What an order is made for, and with. */
interface OrderContext {
  client: Client;
  session: AcmeSession;
  request: CertificateRequest;
  log: Logger;
}

/** One certificate (RFC 8555 section 7.4): order, proof, request, download. */
export async function fulfilOrder(
  session: AcmeSession,
  request: CertificateRequest,
  { directoryUrl, offersRenewalInfo, log }: { directoryUrl: string; offersRenewalInfo: boolean; log: Logger },
): Promise<IssuedCertificate> {
  const { name, account } = request;
  const client = new session.acme.Client({
    directoryUrl,
    accountKey: account.key,
    accountUrl: account.url,
  });
  const errand: OrderContext = { client, session, request, log };
  const order = await placeOrder(errand, offersRenewalInfo ? request.replaces : undefined);
  const { url: orderUrl } = parsed(orderSchema, order, 'an order');

  for (const sent of await client.getAuthorizations(order)) {
    const authorization = parsed(authorizationSchema, sent, 'an authorisation');
    if (authorization.status !== 'valid') await validate(errand, order, authorization);
  }
  const { key, csr } = await createCertificateRequest(session.acme, name);
  const ready = await orderUntil(errand, order, ['ready', 'valid']);
  const finalized = await client.finalizeOrder(ready, csr);
  const done = await orderUntil(errand, finalized, ['valid']);
  const chain = await client.getCertificate(done);
  return { ...(await readIssued(chain, { name, key })), orderUrl };
}

/** An authority that will not take the order for a replacement (RFC 9773 section 5) may take it for a new one. */
async function placeOrder(
  { client, request: { name }, log }: OrderContext,
  replaces: string | undefined,
): Promise<Order> {
  const order = { identifiers: [{ type: 'dns', value: name }] };
  if (replaces === undefined) return client.createOrder(order);
  const replacement = { ...order, replaces };
  try {
    return await client.createOrder(replacement);
  } catch (error) {
    const isDeclined = ['alreadyReplaced', 'conflict', 'malformed', 'unauthorized'].some(
      (type) => error instanceof AcmeRefusal && error.type === `${ERROR_NAMESPACE}${type}`,
    );
    if (!isDeclined) throw error;
    log.info({ err: error, name }, 'the authority declines a replacing order, an ordinary one is placed');
    return client.createOrder(order);
  }
}

/** Has one authorisation validated by HTTP-01 (RFC 8555 section 8.3). The proof is withdrawn however it ends. */
async function validate(errand: OrderContext, order: Order, authorization: Authorization): Promise<void> {
  const { client, session, request } = errand;
  refuseInvalid(authorization, request.name);
  const challenge = httpChallengeOf(authorization, request.name);
  const typed = { ...challenge, error: challenge.error ?? {} };
  const keyAuthorization = await client.getChallengeKeyAuthorization(typed);

  session.signal.throwIfAborted();
  const placing = request.publishChallenge(challenge.token, keyAuthorization);
  try {
    await session.elsewhere(placing);
    session.validationRequested();
    await client.completeChallenge(typed);
    for await (const _ of polls(session)) {
      const all = await client.getAuthorizations(order);
      const found = all.find(({ url }) => url === authorization.url);
      const now = parsed(authorizationSchema, found, 'an authorisation');
      if (now.status === 'valid') return;
      refuseInvalid(now, request.name);
    }
  } finally {
    await session.within(withdraw(errand, placing));
  }
}

/** Takes away what `placing` put in place, also if that is done only after the order was given up. */
async function withdraw(
  { log, request }: OrderContext,
  placing: Promise<() => Promise<void>>,
): Promise<void> {
  const takeAway = await placing.catch(() => null);
  try {
    await takeAway?.();
  } catch (error) {
    log.warn({ err: error, name: request.name }, 'the proof for the authority could not be withdrawn');
  }
}

function httpChallengeOf(authorization: Authorization, name: string): HttpChallenge {
  const offered = authorization.challenges.find(({ type }) => type === 'http-01');
  if (offered === undefined) {
    throw new AcmeRefusal(
      `${ERROR_NAMESPACE}unsupportedIdentifier`,
      `The certificate authority offers no proof over HTTP for ${name}.`,
      { permanent: true },
    );
  }
  return parsed(httpChallengeSchema, offered, 'a challenge');
}

/** Throws the refusal of an authorisation that can come to nothing any more; its challenge says why (section 7.1.6). */
function refuseInvalid({ status, challenges }: Authorization, name: string): void {
  if (status === 'pending' || status === 'valid') return;
  const errors = challenges.map(({ error }) => parseProblem(error));
  const problem = errors.find((error) => error !== null);
  throw refusalOf(problem ?? { type: `${ERROR_NAMESPACE}unauthorized`, detail: '' }, name);
}

/** The order once its status is one of `wanted`. */
async function orderUntil(
  { client, session, request: { name } }: OrderContext,
  order: Order,
  wanted: Order['status'][],
): Promise<Order> {
  for await (const _ of polls(session)) {
    const current = await client.getOrder(order);
    const { status, error } = parsed(orderSchema, current, 'an order');
    if (wanted.includes(status)) return current;
    if (status === 'invalid') {
      throw refusalOf(parseProblem(error) ?? { type: `${ERROR_NAMESPACE}serverInternal`, detail: '' }, name);
    }
  }
  throw new Error('the looks ended before the order did');
}

/** One turn for each look, with growing waits between them, or what the authority asks for; ends only by the signal. */
async function* polls({ signal, retryAfterMs }: AcmeSession): AsyncGenerator<void> {
  for (let wait = POLL_MS.first; ; wait = Math.min(wait * 1.5, POLL_MS.longest)) {
    yield;
    const asked = Math.min(retryAfterMs() ?? 0, POLL_MS.longest);
    await sleep(Math.max(wait, asked), undefined, { signal });
  }
}
