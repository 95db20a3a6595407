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
    message: string,
    about: {
      type: string;
      validationSpent: boolean;
      retryAfterMs: number | null;
      permanent: boolean;
      cause?: unknown;
    },
  ) {
    super(message, { cause: about.cause });
    this.type = about.type;
    this.validationSpent = about.validationSpent;
    this.retryAfterMs = about.retryAfterMs;
    this.permanent = about.permanent;
  }
}
