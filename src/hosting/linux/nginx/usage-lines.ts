import { LONGEST_AGENT } from '../../policy/usage/visitors.ts';

/** The log that nginx writes to. Its folder is open to root and nginx alone. */
export const USAGE_LOG = 'requests.log';

/** nginx writes many lines at once, at least every second. */
export const LOG_BUFFER = 'buffer=32k flush=1s';

const LONGEST_PATH = 1_000;
const LONGEST_REFERRER = 500;

/** Variables of the format: texts of visitors, cut. A path is logged without its query, which may hold keys and tokens. */
export function renderLogMaps(): string {
  return `map $http_user_agent $usage_agent {
    default "";
    "~^(?<agent_start>.{1,${LONGEST_AGENT}})" $agent_start;
}
map $http_referer $log_referrer {
    default "";
    "~^(?<referrer_start>[^?#]{1,${LONGEST_REFERRER}})" $referrer_start;
}
map $request_uri $log_path {
    default "";
    "~^(?<path_start>[^?]{1,${LONGEST_PATH}})" $path_start;
}`;
}

/**
 * The format `name` of a line for each request. `install` is the id or a variable that visitors cannot set, so that no request
 * can name another install. nginx escapes what a visitor sent.
 */
export function renderLogFormat(name: string, install: string): string {
  const fields = [
    `"${install}",$msec,$bytes_sent,"$remote_addr","$usage_agent"`,
    '"$status","$request_method","$scheme","$host","$log_path","$log_referrer"',
    '"$upstream_cache_status",$request_time,"$upstream_response_time"',
  ];
  return `log_format ${name} escape=json '[${fields.join(',')}]';`;
}

/** One answered request. */
export interface UsageLine {
  installId: string;
  atMs: number;
  bytes: number;
  address: string;
  userAgent: string;
  /** 0 if the visitor left before an answer. */
  status: number;
  method: string;
  scheme: string;
  host: string;
  /** Without the query. */
  path: string;
  referrer: string;
  /** As nginx names it: `HIT`, `MISS`; empty without the page cache. */
  cache: string;
  seconds: number;
  /** Time that PHP or the object storage took; null if the request needed neither. */
  upstreamSeconds: number | null;
}

const TEXTS = [0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13];
const FIELDS = 14;

/** Null for any other text. */
export function parseUsageLine(line: string): UsageLine | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!Array.isArray(value) || value.length !== FIELDS) return null;
  const fields: unknown[] = value;
  if (TEXTS.some((index) => typeof fields[index] !== 'string')) return null;
  const text = (index: number) => String(fields[index]);
  const [, at, bytes] = fields;
  const seconds = fields[12];
  if (typeof at !== 'number' || typeof bytes !== 'number' || bytes < 0) return null;
  if (typeof seconds !== 'number') return null;
  return {
    installId: text(0),
    atMs: Math.round(at * 1000),
    bytes,
    address: text(3),
    userAgent: text(4),
    status: Number(text(5)) || 0,
    method: text(6),
    scheme: text(7),
    host: text(8),
    path: text(9),
    referrer: text(10),
    cache: text(11),
    seconds,
    upstreamSeconds: totalSeconds(text(13)),
  };
}

/** nginx lists the times of all servers that it asked: `0.010, 0.002 : -`. */
function totalSeconds(list: string): number | null {
  const times = list
    .split(/[,:]/)
    .map((time) => Number.parseFloat(time))
    .filter((time) => !Number.isNaN(time));
  if (times.length === 0) return null;
  return Math.round(times.reduce((sum, time) => sum + time, 0) * 1000) / 1000;
}
