import type { HttpRequest, HttpResponse } from '../../../network/connections/http-messages.ts';
import type { AccessEntry } from '../../contract/logs.ts';
import type { Scheme } from '../../policy/redirects.ts';
import { LONGEST_AGENT } from '../../policy/usage/visitors.ts';
import { LONGEST_METHOD, LONGEST_PATH, LONGEST_REFERRER } from '../../websites/logs/access-logs.ts';
import { noted } from './answer-record.ts';

/** A request for a website. */
export interface WebsiteRequest {
  installId: string;
  scheme: Scheme;
  /** Lower case, without the port. */
  host: string;
  /** Percent-encoded as sent, without the query. */
  path: string;
  /** Of the visitor. */
  address: string | undefined;
}

/** The entry of an answered request, without time and address, as nginx writes it on a Linux host. `ms`: time of the whole request. */
export function accessEntry(
  { scheme, host, path }: WebsiteRequest,
  { method = '', headers }: HttpRequest,
  response: HttpResponse,
  { bytes, ms }: { bytes: number; ms: number },
): Omit<AccessEntry, 'time' | 'address'> {
  const { cache, upstreamMs } = noted(response);
  return {
    method: method.slice(0, LONGEST_METHOD),
    scheme,
    host,
    path: path.slice(0, LONGEST_PATH),
    status: response.headersSent ? response.statusCode : 0,
    bytes,
    cache,
    seconds: secondsOf(ms),
    php_seconds: upstreamMs === null ? null : secondsOf(upstreamMs),
    user_agent: textOf(headers['user-agent']).slice(0, LONGEST_AGENT),
    // The query may hold keys and tokens.
    referrer: textOf(headers.referer)
      .replace(/[?#].*$/s, '')
      .slice(0, LONGEST_REFERRER),
  };
}

const secondsOf = (ms: number): number => Math.round(ms) / 1_000;

const ASCII = /^[ -~]*$/;

/** Node reads the bytes of a header as Latin-1. */
function textOf(header: string | undefined): string {
  if (header === undefined || ASCII.test(header)) return header ?? '';
  return Buffer.from(header, 'latin1').toString();
}
