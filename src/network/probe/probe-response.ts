/** The response to one GET. */
export interface ProbeResponse {
  status: number;
  /** Names in lower case. Repeated headers are joined by `, `. */
  headers: Record<string, string>;
  /** UTF-8, cut at the limit of the request; '' for a redirect. */
  body: string;
  /** Target of a redirect (301, 302, 303, 307, 308); null for other responses and for an invalid URL. */
  location: URL | null;
}

export type ProbeProblem =
  | 'refused'
  | 'timeout'
  | 'reset'
  | 'unreachable'
  | 'private_address'
  | 'not_http'
  | 'tls'
  /** The response ended the process that read it. */
  | 'unreadable'
  | 'too_many_redirects'
  | 'redirect_loop'
  | 'bad_redirect'
  | 'unresolved';

/** A failed request. The message is one sentence for people that names the host and, if known, the address. */
export class ProbeFailure extends Error {
  override name = 'VisitFailure';
  readonly problem: ProbeProblem;

  constructor(problem: ProbeProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

const REDIRECTS = [301, 302, 303, 307, 308];

/** Whether a browser would follow the response as a redirect. It does not without a Location header. */
export function isRedirect(status: number, location: string | undefined): boolean {
  return REDIRECTS.includes(status) && location !== undefined;
}

/** The Location header as browsers read it. Node gives each byte as a character, but the bytes are UTF-8. */
export function locationText(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}

/** The end of a sentence that says why the policy refuses an address. */
export function refusedAddress(address: string): string {
  return `${address}, which is not a public address, so Homeport does not connect to it; point the name to the server's public address`;
}
