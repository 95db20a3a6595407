import { isIP } from 'node:net';
import { type Fault, InvalidRequest } from '../../../lib/failures.ts';
import { bareHost } from '../../../lib/host-names.ts';
import type { AddressPolicy } from '../../../network/probe/address-policy.ts';
import { LONGEST_URL } from './schema.ts';

/** The operator's rules for the addresses of webhooks. */
export interface TargetRules {
  /** Whether plain HTTP is allowed. */
  allowHttp: boolean;
  mayContact: AddressPolicy;
}

const WEB_PORTS = [80, 443];
const FIRST_UNPRIVILEGED_PORT = 1024;

/**
 * Checks the URL of a webhook. Addresses of names are checked at each connection, because names can change. Ports below
 * 1024 other than 80 and 443 belong to other protocols. Throws InvalidRequest.
 */
export function requireTarget(text: string, { allowHttp, mayContact }: TargetRules): string {
  const url = text.length <= LONGEST_URL ? URL.parse(text) : null;
  if (url === null)
    throw refused('invalid_url', 'The URL must be an absolute address such as https://hooks.example.com/');
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    throw refused('not_https', 'The URL must begin with https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw refused('credentials', 'The URL must not contain a user name or password');
  }
  const port = Number(url.port);
  if (url.port !== '' && port < FIRST_UNPRIVILEGED_PORT && !WEB_PORTS.includes(port)) {
    throw refused('port', 'The URL must use port 80, 443, or one from 1024');
  }
  const host = bareHost(url.hostname);
  if (isIP(host) !== 0 && !mayContact(host)) {
    throw refused('private_address', 'The URL must lead to a public address');
  }
  url.hash = '';
  return url.href;
}

function refused(code: string, message: string): InvalidRequest {
  const fault: Fault = { resource: 'Webhook', field: 'url', type: 'invalid_value', code, message };
  return new InvalidRequest(message, [fault]);
}
