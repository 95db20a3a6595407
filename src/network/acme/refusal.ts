/** Namespace of the error types of RFC 8555 section 6.7. */
export const ERROR_NAMESPACE = 'urn:ietf:params:acme:error:';

/** The authority refused a request or could not be reached. The message is for the domain's owner. */
export class AcmeRefusal extends Error {
  override name = 'AcmeRefusal';
  /** `urn:ietf:params:acme:error:…` (RFC 8555 section 6.7), or `unreachable` without a usable answer. */
  readonly type: string;
  /** Counts against the limit of validations, because the authority may have validated the name. */
  readonly validationSpent: boolean;
  /** Milliseconds until the next try, as requested by the authority; null if it did not say. */
  readonly retryAfterMs: number | null;
  /** Retries fail until something changes. */
  readonly permanent: boolean;

  /** `message`: one sentence for people. */
  constructor(
    type: string,
    message: string,
    about: {
      validationSpent?: boolean;
      retryAfterMs?: number | null;
      permanent?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: about.cause });
    this.type = type;
    this.validationSpent = about.validationSpent ?? false;
    this.retryAfterMs = about.retryAfterMs ?? null;
    this.permanent = about.permanent ?? false;
  }
}

/** The same refusal, marked as one that came after a validation request. */
export function afterValidation(refusal: AcmeRefusal): AcmeRefusal {
  const { type, message, retryAfterMs, permanent, cause } = refusal;
  return new AcmeRefusal(type, message, { validationSpent: true, retryAfterMs, permanent, cause });
}
