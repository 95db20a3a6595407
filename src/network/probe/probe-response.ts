/** The answer to one GET. */
export interface ProbeResponse {
  status: number;
  /** Names in lower case; several of one name joined by `, `. */
  headers: Record<string, string>;
  /** UTF-8, cut off at the limit of the request; '' for a redirect, whose body nobody sees. */
  body: string;
  /** Where a redirect (301, 302, 303, 307, 308) leads; null for other answers, and where it leads to no URL. */
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
  | 'too_many_redirects'
  | 'redirect_loop'
  | 'bad_redirect'
  | 'unresolved';

/** Why a page could not be had. The message is one sentence for people, and names the host and, if known, the address. */
export class ProbeFailure extends Error {
  override name = 'VisitFailure';
  readonly problem: ProbeProblem;

  constructor(problem: ProbeProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

const REDIRECTS = [301, 302, 303, 307, 308];

/** Whether a browser would go on to another address; it does not where a redirect names none. */
export function isRedirect(status: number, location: string | undefined): boolean {
  return REDIRECTS.includes(status) && location !== undefined;
}

/** The Location header as browsers read it: Node gives each of its bytes as a character, and they are UTF-8. */
export function locationText(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}

/** Why nothing is sent to an address that the policy refuses; the end of a sentence. */
export function refusedAddress(address: string): string {
  return `${address}, which is no public address, so Homeport does not connect to it; point the name at the server's public address`;
}
