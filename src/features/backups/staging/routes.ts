import { bodyRoute, type Route, Started } from '../../../api/route.ts';
import { presentInstall } from '../../websites/installs/present.ts';
import { installSchema } from '../../websites/installs/schema.ts';
import { copiedParts } from '../schema.ts';
import { createStagingSchema, pushInstallSchema } from './schema.ts';
import { PUSH, type StagingService } from './service.ts';

export function stagingRoutes(staging: StagingService, siteDomain: string): Route[] {
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/staging',
      operationId: 'createStaging',
      summary: 'Make a staging copy',
      description:
        'Creates an install in the `staging` environment of the same site, with the same PHP version, and copies the files and the database into it. URLs in its database get its address. Answers with the new install and the operation of the copy. Requires the role owner or full.',
      link: { operationId: 'getInstall', ids: { install_id: '/id' } },
      tag: 'Installs',
      errors: [400, 401, 403, 404, 409, 429, 503],
      success: 202,
      starts: 'install.copy',
      response: installSchema,
      body: { resource: 'Installation', schema: createStagingSchema },
      async handle({ caller, id }, { name }) {
        const install = await staging.create(caller, id('install_id'), name);
        return new Started(install.operationId, presentInstall(install, siteDomain));
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/push',
      operationId: 'pushInstall',
      summary: 'Push an install to production',
      description:
        'Replaces the files, the database or some tables of the production install of the same site, or of `to`, by those of this install. The replaced install keeps its name and domains. A checkpoint of it is made first, and put back if the copy fails. `include_files` and `include_db` have no default. Answers 409 while the install is being replaced itself. Answers 409 for an install that was created for a copy, until a copy, a restore or an import into it has succeeded.',
      tag: 'Installs',
      errors: [400, 401, 403, 404, 409, 429, 503],
      success: 202,
      starts: 'install.copy',
      body: { resource: PUSH, schema: pushInstallSchema },
      async handle({ caller, id }, { to = null, notification_emails = [], ...parts }) {
        const operationId = await staging.push(caller, id('install_id'), {
          to,
          parts: copiedParts(parts),
          notification_emails,
        });
        return new Started(operationId, undefined);
      },
    }),
  ];
}
