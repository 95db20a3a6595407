import { LONGEST_AGENT } from '../../policy/usage/visitors.ts';
import {
  answerOf,
  LONGEST_METHOD,
  LONGEST_PATH,
  LONGEST_REFERRER,
  type LoggedRequest,
} from '../../websites/logs/access-logs.ts';

/** The log that nginx writes to. Its folder is open to root and nginx alone. */
export const USAGE_LOG = 'requests.log';

/** nginx writes many lines at once, at least every second. */
export const LOG_BUFFER = 'buffer=32k flush=1s';

/** Variables of the format: texts of visitors, cut. A path is logged without its query, which may hold keys and tokens. */
export function renderLogMaps(): string {
  return `map $http_user_agent $usage_agent {
    default "";
    "~^(?<agent_start>.{1,${LONGEST_AGENT}})" $agent_start;
}
map "$request_method $http_cache_control" $logged_install {
    default $install;
    # Checks of the platform have no content, so that no one hides traffic this way.
    "~*^HEAD (.*,)? *only-if-cached *(,|$)" "";
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
    '"$status","$request_method","$visitor_scheme","$host","$log_path","$log_referrer"',
    '"$upstream_cache_status",$request_time,"$upstream_response_time"',
  ];
  return `log_format ${name} escape=json '[${fields.join(',')}]';`;
}

/** One answered request. */
export interface UsageLine extends LoggedRequest {
  /** 0 if the visitor left before an answer. */
  status: number;
  bytes: number;
  userAgent: string;
  /** As nginx names it: `HIT`, `MISS`; empty without the page cache. */
  cache: string;
  seconds: number;
}

/** A text that JSON need not escape, and that cannot deceive a reader. */
const PLAIN = '[ !#-[\\]-~]*';

/** Nearly all lines. Their texts are copied as they are, which takes a fraction of parsing and writing JSON. */
const PLAIN_LINE = new RegExp(
  `^\\["([0-9a-f-]{36})",(\\d+\\.\\d{3}),(\\d+),"([0-9a-f.:]+)","(${PLAIN})",` +
    `"([1-9]\\d\\d)","([A-Z]{1,${LONGEST_METHOD}})","([a-z]+)","(${PLAIN})","(${PLAIN})","(${PLAIN})",` +
    '"([A-Z]*)",(\\d+\\.\\d{3}),"(|\\d+\\.\\d{3})"\\]$',
);

/** Null for any other text. */
export function parseUsageLine(line: string): UsageLine | null {
  const fields = PLAIN_LINE.exec(line);
  if (fields === null) return parseAnyLine(line);
  const [
    ,
    installId = '',
    at,
    bytes,
    address = '',
    userAgent = '',
    status,
    method,
    scheme,
    host,
    path,
    ...rest
  ] = fields;
  const [referrer, cache = '', seconds, upstream] = rest;
  return {
    installId,
    atMs: Math.round(Number(at) * 1000),
    status: Number(status),
    bytes: Number(bytes),
    address,
    userAgent,
    cache,
    seconds: Number(seconds),
    answer:
      `"method":"${method}","scheme":"${scheme}","host":"${host}","path":"${path}","status":${status},"bytes":${bytes},` +
      `"cache":${cache === '' ? 'null' : `"${cache}"`},"seconds":${seconds},"php_seconds":${upstream === '' ? 'null' : upstream},` +
      `"user_agent":"${userAgent}","referrer":"${referrer}"}`,
  };
}

const TEXTS = [0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13];
const FIELDS = 14;

function parseAnyLine(line: string): UsageLine | null {
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
  const atMs = Math.round(at * 1000);
  const userAgent = text(4);
  const status = Number(text(5)) || 0;
  const answer = answerOf({
    method: text(6).slice(0, LONGEST_METHOD),
    scheme: text(7),
    host: text(8),
    path: text(9),
    status,
    bytes,
    cache: text(11) || null,
    seconds,
    php_seconds: totalSeconds(text(13)),
    user_agent: userAgent,
    referrer: text(10),
  });
  return {
    installId: text(0),
    atMs,
    status,
    bytes,
    address: text(3),
    userAgent,
    cache: text(11),
    seconds,
    answer,
  };
}

/** nginx lists the times of all servers that it asked, PHP or the object storage: `0.010, 0.002 : -`. Null if it asked none. */
function totalSeconds(list: string): number | null {
  const times = list
    .split(/[,:]/)
    .map((time) => Number.parseFloat(time))
    .filter((time) => !Number.isNaN(time));
  if (times.length === 0) return null;
  return Math.round(times.reduce((sum, time) => sum + time, 0) * 1000) / 1000;
}
