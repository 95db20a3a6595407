/** The answer to one GET. */
export interface Visit {
  status: number;
  /** Names in lower case; several of one name joined by `, `. */
  headers: Record<string, string>;
  /** UTF-8, cut off at the limit of the request. */
  body: string;
  /** Where a redirect (301, 302, 303, 307, 308) leads; null for other answers and where it leads nowhere. */
  location: URL | null;
}

export type VisitProblem =
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

/** Why a page could not be had. The message is one sentence for people, and names the host and the address. */
export class VisitFailure extends Error {
  override name = 'VisitFailure';
  readonly problem: VisitProblem;

  constructor(problem: VisitProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}
