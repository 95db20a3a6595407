import { codeOf } from '../../lib/error-code.ts';

/** The reason why a connection failed or ended early. */
export type ConnectionProblem = 'refused' | 'timeout' | 'reset' | 'unreachable';

const BY_CODE: Record<string, ConnectionProblem> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  ABORT_ERR: 'timeout',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EAFNOSUPPORT: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  EINVAL: 'unreachable',
};

/** Classifies a connection error; null for an error of the protocol above it. */
export function connectionProblem(error: unknown): ConnectionProblem | null {
  return BY_CODE[codeOf(error) ?? ''] ?? null;
}

/** One sentence about the problem. It begins with `where`: the host, address and port. */
export function connectionSentence(problem: ConnectionProblem, where: string): string {
  return `${where} ${WORDS[problem]}`;
}

const WORDS: Record<ConnectionProblem, string> = {
  refused: 'refuses connections; check that a web server runs there and that no firewall blocks it.',
  timeout:
    'did not answer in time; check that a web server runs there and that no firewall drops the traffic.',
  reset: 'closed the connection before the response was complete.',
  unreachable: 'cannot be reached: this machine has no route to that address.',
};
