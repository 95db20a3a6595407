import {
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
} from '@simplewebauthn/browser';
import { type BodyOf, type PortalPaths, portal } from '../api/client.ts';
import { FormError, unwrap } from '../api/failure.ts';

type RequestOptions = BodyOf<PortalPaths['/portal/api/session/passkey/options']['post']>;
type CreationOptions = BodyOf<PortalPaths['/portal/api/passkeys/options']['post']>;
type BodySent<Path extends keyof PortalPaths> = PortalPaths[Path] extends {
  post: { requestBody: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;
export type Assertion = BodySent<'/portal/api/session/passkey'>['passkey'];
export type Registration = BodySent<'/portal/api/passkeys'>['credential'];

/** Challenges expire after five minutes, so an offer in a field is renewed before. */
const RENEW_MS = 4 * 60 * 1000;

/** Asks for a passkey. Throws FormError if the user cancels or the browser has none. */
export async function askForPasskey(options: RequestOptions): Promise<Assertion> {
  try {
    return answerOf(await startAuthentication({ optionsJSON: options }));
  } catch (error) {
    throw refusalOf(error, 'No passkey was used. Try again, or choose another way.');
  }
}

/** Confirms a change of the signed-in user with one of their passkeys. Throws like {@link askForPasskey}. */
export async function confirmByPasskey(): Promise<Assertion> {
  return askForPasskey(await unwrap(portal.POST('/portal/api/passkeys/confirmation_options')));
}

/** Creates a passkey. Throws FormError if the user cancels, or their password manager has one for them already. */
export async function createPasskey(options: CreationOptions): Promise<Registration> {
  try {
    const { id, response } = await startRegistration({ optionsJSON: options });
    const { clientDataJSON, attestationObject, transports = [] } = response;
    return { id, response: { clientDataJSON, attestationObject, transports } };
  } catch (error) {
    if (nameOf(error) === 'InvalidStateError') {
      throw new FormError('This device or password manager already has one of your passkeys.');
    }
    throw refusalOf(
      error,
      'No passkey was created. Try again. If your browser asked nothing, check that it trusts the certificate of this page.',
    );
  }
}

/**
 * Offers passkeys among the suggestions of the field for the email address, until the user chooses one or `signal` aborts. Returns null
 * if the browser cannot do that, or another request for a passkey took its place.
 */
export async function passkeyFromSuggestions(
  signal: AbortSignal,
  newOptions: () => Promise<RequestOptions>,
): Promise<Assertion | null> {
  if (!(await browserSupportsWebAuthnAutofill())) return null;
  const cancel = () => WebAuthnAbortService.cancelCeremony();
  signal.addEventListener('abort', cancel);
  try {
    while (!signal.aborted) {
      const optionsJSON = await newOptions();
      if (signal.aborted) return null;
      let isOld = false;
      const renewal = setTimeout(() => {
        isOld = true;
        cancel();
      }, RENEW_MS);
      try {
        return answerOf(await startAuthentication({ optionsJSON, useBrowserAutofill: true }));
      } catch {
        if (!isOld) return null;
        await untilVisible(signal);
      } finally {
        clearTimeout(renewal);
      }
    }
    return null;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** A page in the background needs no new challenge. */
function untilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => resolve();
    document.addEventListener('visibilitychange', done, { once: true });
    signal.addEventListener('abort', done, { once: true });
  });
}

/** The parts of an answer that the server needs. */
function answerOf({ id, response }: Awaited<ReturnType<typeof startAuthentication>>): Assertion {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  return {
    id,
    response: { clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) },
  };
}

/** Browsers hide why no passkey was used, so that a page learns nothing about the user. */
const refusalOf = (error: unknown, sentence: string): unknown =>
  nameOf(error) === 'NotAllowedError' || nameOf(error) === 'AbortError' || nameOf(error) === 'SecurityError'
    ? new FormError(sentence)
    : error;

const nameOf = (error: unknown): string | undefined => (error instanceof Error ? error.name : undefined);
