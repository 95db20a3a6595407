import { NOTICES, type Notice, noticePage } from '../../policy/pages.ts';

/** Pages that nginx shows to visitors if it cannot serve anything, by name. */
const NGINX_NOTICES = {
  'not-found': NOTICES.notFound,
  'no-website': NOTICES.noWebsite,
  storage: NOTICES.storage,
  forbidden: NOTICES.blocked,
  failed: NOTICES.failed,
  closed: NOTICES.closed,
  held: NOTICES.held,
  protected: NOTICES.protected,
  'too-many': NOTICES.tooMany,
  'too-large': {
    status: 413,
    title: 'Too large',
    sentence: 'This website accepts at most 64 MB at once.',
  },
  unavailable: {
    status: 502,
    title: 'This website does not answer',
    sentence: 'Please try again in a moment. If this persists, contact the operator of the website.',
  },
  busy: {
    status: 503,
    title: 'Many visitors at once',
    sentence: 'This website is very busy. Please try again in a few seconds.',
  },
  slow: {
    status: 504,
    title: 'This website takes too long',
    sentence: 'It did not finish its answer in time. Please try again in a moment.',
  },
} as const satisfies Record<string, Notice>;

/** The pages as files: name and content. */
export function noticeFiles(): [string, string][] {
  return Object.entries(NGINX_NOTICES).map(([name, notice]) => [
    `${name}.html`,
    noticePage(notice).toString(),
  ]);
}
