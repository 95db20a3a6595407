import { bodyRoute, type Route, route, Started } from '../../../api/route.ts';
import { presentMail } from './present.ts';
import { installMailSchema, updateInstallMailSchema } from './schema.ts';
import { MAIL, type MailService } from './service.ts';

export function mailRoutes(mail: MailService): Route[] {
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/mail',
      operationId: 'getInstallMail',
      summary: 'Get the limits and counts of mail of an install',
      description: 'Asks the host of the install, so it can answer 502.',
      tag: 'Installs',
      errors: [401, 403, 404, 409, 429, 502, 503],
      needs: 'mail_limits',
      success: 200,
      response: installMailSchema,
      handle: async ({ caller, id }) => presentMail(await mail.get(caller, id('install_id'))),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/installs/:install_id/mail',
      operationId: 'updateInstallMail',
      summary: 'Limit the mail of an install',
      description:
        '`limit_per_hour` counts recipients. 0 switches mail off, and null removes the limit, so that `most_per_hour` applies. An operation passes the limit to the host.',
      tag: 'Installs',
      errors: [400, 401, 403, 404, 409, 429, 502, 503],
      needs: 'mail_limits',
      success: 200,
      starts: 'install.apply',
      response: installMailSchema,
      body: { resource: MAIL, schema: updateInstallMailSchema },
      async handle({ caller, id }, { limit_per_hour }) {
        const { operationId, ...view } = await mail.limit(caller, id('install_id'), limit_per_hour);
        return new Started(operationId, presentMail(view));
      },
    }),
  ];
}
