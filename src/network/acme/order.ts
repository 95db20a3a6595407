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

/** First and longest wait between two status polls. */
const POLL_MS = { first: 100, longest: 5000 };

/** State that the steps of one order share. */
interface OrderContext {
  client: Client;
  session: AcmeSession;
  request: CertificateRequest;
  log: Logger;
}

/** Obtains one certificate (RFC 8555 section 7.4): order, validation, certificate request, download. */
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

/** Places the order. If the authority declines it as a replacement (RFC 9773 section 5), places an ordinary one. */
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
    log.info(
      { err: error, name },
      'certificate authority declined the order as a replacement; placing an ordinary order',
    );
    return client.createOrder(order);
  }
}

/** Completes one authorization by HTTP-01 (RFC 8555 section 8.3). Withdraws the challenge however it ends. */
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

/** Withdraws the challenge, even if publishing it finishes only after the order was given up. */
async function withdraw(
  { log, request }: OrderContext,
  placing: Promise<() => Promise<void>>,
): Promise<void> {
  const takeAway = await placing.catch(() => null);
  try {
    await takeAway?.();
  } catch (error) {
    log.warn({ err: error, name: request.name }, 'could not withdraw the ACME challenge');
  }
}

function httpChallengeOf(authorization: Authorization, name: string): HttpChallenge {
  const offered = authorization.challenges.find(({ type }) => type === 'http-01');
  if (offered === undefined) {
    throw new AcmeRefusal(
      `${ERROR_NAMESPACE}unsupportedIdentifier`,
      `The certificate authority offers no HTTP validation for ${name}.`,
      { permanent: true },
    );
  }
  return parsed(httpChallengeSchema, offered, 'a challenge');
}

/** Throws if an authorization has failed; its challenge holds the reason (RFC 8555 section 7.1.6). */
function refuseInvalid({ status, challenges }: Authorization, name: string): void {
  if (status === 'pending' || status === 'valid') return;
  const errors = challenges.map(({ error }) => parseProblem(error));
  const problem = errors.find((error) => error !== null);
  throw refusalOf(problem ?? { type: `${ERROR_NAMESPACE}unauthorized`, detail: '' }, name);
}

/** Polls the order until its status is one of `wanted`. */
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
  throw new Error('polling ended before the order did');
}

/** Yields for each poll. Waits grow between polls, or follow Retry-After. Ends only by the signal. */
async function* polls({ signal, retryAfterMs }: AcmeSession): AsyncGenerator<void> {
  for (let wait = POLL_MS.first; ; wait = Math.min(wait * 1.5, POLL_MS.longest)) {
    yield;
    const asked = Math.min(retryAfterMs() ?? 0, POLL_MS.longest);
    await sleep(Math.max(wait, asked), undefined, { signal });
  }
}
