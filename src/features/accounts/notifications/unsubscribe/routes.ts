import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  NOTIFICATION_CATEGORIES,
  type NotificationCategory,
} from '../../../../lib/notification-categories.ts';
import type { NotificationService } from '../service.ts';
import { UNSUBSCRIBE_PATH } from '../unsubscribe-link.ts';

const STYLE = `:root{color-scheme:light dark}body{max-width:32rem;margin:12vh auto 0;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}
button{padding:.5rem 1rem;font:inherit}`;

const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  // The URL is a secret of the recipient.
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/**
 * Switches off emails by a signed link, without signing in. Mail programs post to the link (RFC 8058). People who open it confirm, because
 * programs that check links open them, too.
 */
export function unsubscribePage({
  notifications,
  admit,
  publicUrl,
}: {
  notifications: Pick<NotificationService, 'categoriesOfLink' | 'unsubscribe'>;
  /** Counts a request by its address. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  publicUrl: string;
}) {
  const preferences = `${publicUrl.replace(/\/$/, '')}/me/notifications/preferences`;
  return async (app: FastifyInstance): Promise<void> => {
    const url = `${UNSUBSCRIBE_PATH}/:token`;
    app.get(url, { onRequest: admit, exposeHeadRoute: false }, async (request, reply) => {
      const categories = notifications.categoriesOfLink(tokenOf(request));
      if (categories === null) return refuse(reply, preferences);
      return page(
        reply,
        200,
        'Stop these emails?',
        `<p>You will get no more emails about ${namesOf(categories)}. Your inbox in the portal keeps these notifications.</p>
<form method="post"><button>Stop emails</button></form>`,
      );
    });
    app.post(url, { onRequest: admit }, async (request, reply) => {
      const categories = await notifications.unsubscribe(tokenOf(request));
      if (categories === null) return refuse(reply, preferences);
      return page(
        reply,
        200,
        'Emails stopped',
        `<p>You get no more emails about ${namesOf(categories)}. <a href="${preferences}">Change your preferences</a> to get them again.</p>`,
      );
    });
  };
}

function tokenOf({ params }: FastifyRequest): string {
  const token: unknown =
    typeof params === 'object' && params !== null ? Reflect.get(params, 'token') : undefined;
  return typeof token === 'string' ? token : '';
}

const namesOf = (categories: readonly NotificationCategory[]): string =>
  new Intl.ListFormat('en').format(
    categories.map((category) => NOTIFICATION_CATEGORIES[category].title.toLowerCase()),
  );

const refuse = (reply: FastifyReply, preferences: string): FastifyReply =>
  page(
    reply,
    404,
    'This link does not work',
    `<p>Open the link from the email again, or sign in and <a href="${preferences}">change your preferences</a>.</p>`,
  );

function page(reply: FastifyReply, status: number, title: string, content: string): FastifyReply {
  return reply
    .code(status)
    .headers(HEADERS)
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} · Homeport</title><style>${STYLE}</style><main><h1>${title}</h1>${content}</main></html>`,
    );
}
