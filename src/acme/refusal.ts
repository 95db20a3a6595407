/** How a refusal differs from the usual one: final, before any validation, with no word on when to come back. */
export interface RefusalCircumstances {
  validationSpent?: boolean;
  retryAfterMs?: number | null;
  permanent?: boolean;
  cause?: unknown;
}

/**
 * The authority gave no certificate. `message` is one sentence for people. It never carries a key or a token.
 */
export class AcmeRefusal extends Error {
  override name = 'AcmeRefusal';
  /** `urn:ietf:params:acme:error:…` (RFC 8555 section 6.7), or 'unreachable' where the authority gave no answer. */
  readonly type: string;
  /** The authority was asked to validate the name: it counts against the limit of validations. */
  readonly validationSpent: boolean;
  /** How long the authority asks to be left alone; null if it does not say. */
  readonly retryAfterMs: number | null;
  /** Trying again does not help until the name, the account or the configuration changes. */
  readonly permanent: boolean;

  constructor(type: string, message: string, circumstances: RefusalCircumstances = {}) {
    super(message, { cause: circumstances.cause });
    this.type = type;
    this.validationSpent = circumstances.validationSpent ?? false;
    this.retryAfterMs = circumstances.retryAfterMs ?? null;
    this.permanent = circumstances.permanent ?? false;
  }
}
