import { NOTICES, type Notice, noticePage } from '../../policy/pages.ts';

/** What visitors are told where there is nothing to serve: the pages that nginx shows, by name. */
const NGINX_NOTICES = {
  'not-found': NOTICES.notFound,
  'no-website': NOTICES.noWebsite,
  storage: NOTICES.storage,
  forbidden: {
    status: 403,
    title: 'Forbidden',
    sentence: 'What lies at this address may not be shown.',
  },
  'too-large': {
    status: 413,
    title: 'Too large',
    sentence: 'At most 64 MB can be sent to this website at once.',
  },
  unavailable: {
    status: 502,
    title: 'This website does not answer',
    sentence: 'Please try again in a moment; if it persists, tell the operator of the website.',
  },
  slow: {
    status: 504,
    title: 'This website takes too long',
    sentence: 'It did not finish its answer in time. Please try again in a moment.',
  },
} as const satisfies Record<string, Notice>;

/** The pages as files: name, content. */
export function noticeFiles(): [string, string][] {
  return Object.entries(NGINX_NOTICES).map(([name, notice]) => [
    `${name}.html`,
    noticePage(notice).toString(),
  ]);
}
