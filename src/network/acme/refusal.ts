/** The namespace of the types of RFC 8555 section 6.7. */
export const ERROR_NAMESPACE = 'urn:ietf:params:acme:error:';

/** Why an authority did not do what it was asked, told to the domain's owner. */
export class AcmeRefusal extends Error {
  override name = 'AcmeRefusal';
  /** `urn:ietf:params:acme:error:…` (RFC 8555 section 6.7), or `unreachable` when no usable answer came. */
  readonly type: string;
  /** Counts against the limit of validations: the authority was asked to look at the name. */
  readonly validationSpent: boolean;
  /** Milliseconds to wait before the next try, as the authority asks; null if it does not say. */
  readonly retryAfterMs: number | null;
  /** Trying again will not help until something is changed. */
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

/** The same refusal, after the authority was asked to validate the name. */
export function afterValidation(refusal: AcmeRefusal): AcmeRefusal {
  const { type, message, retryAfterMs, permanent, cause } = refusal;
  return new AcmeRefusal(type, message, { validationSpent: true, retryAfterMs, permanent, cause });
}
