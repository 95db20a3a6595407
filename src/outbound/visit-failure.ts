/** Why one visit, or a chain of redirects, did not end at a page. */
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

/** A visit that brought no answer. The message is one sentence for people that names the host and, if known, the address. */
export class VisitFailure extends Error {
  override name = 'VisitFailure';
  readonly problem: VisitProblem;

  constructor(problem: VisitProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}
