import { bodyRoute, pagedRoute, type Route, route, Started } from '../../api/route.ts';
import { createTransferSchema, transferSchema } from './schema.ts';
import type { TransferService } from './service.ts';

export function transferRoutes(transfers: TransferService): Route[] {
  const tag = 'Site transfers';
  return [
    pagedRoute({
      path: '/accounts/:account_id/site_transfers',
      operationId: 'listAccountSiteTransfers',
      summary: 'Site transfers from and to an account, oldest first',
      description:
        'Lists offers that wait to be accepted as well as transfers that ended in the last year. Partial users get 403.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 503],
      item: transferSchema,
      handle: ({ caller, id, page }) => transfers.listOfAccount(caller, id('account_id'), page),
    }),
    route({
      method: 'POST',
      path: '/accounts/:account_id/site_transfers/:transfer_id/accept',
      operationId: 'acceptSiteTransfer',
      summary:
        'Accept a site transfer to this account, as one of its owners; it follows at once or at its time',
      description:
        'An owner of the destination accepts a transfer that an owner of the origin requested. The site is transferred at once, or at `scheduled_time`.',
      tag,
      errors: [400, 401, 403, 404, 409, 429, 500, 503],
      success: 200,
      response: transferSchema,
      handle: ({ caller, id }) => transfers.accept(caller, id('account_id'), id('transfer_id')),
    }),
    pagedRoute({
      path: '/sites/:site_id/site_transfers',
      operationId: 'listSiteTransfers',
      summary: 'Transfers of a site from or to your accounts, oldest first',
      description:
        'An account that gave the site away still sees its own transfer of it. Partial users get 403.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 503],
      item: transferSchema,
      handle: ({ caller, id, page }) => transfers.listOfSite(caller, id('site_id'), page),
    }),
    bodyRoute({
      method: 'POST',
      path: '/sites/:site_id/site_transfers',
      operationId: 'createSiteTransfer',
      summary: 'Transfer a site to another account',
      link: { operationId: 'getSiteTransfer', ids: { transfer_id: '/id' } },
      description:
        'An owner of both accounts transfers the site at once or at `scheduled_time`. Otherwise an owner of the destination must accept within 14 days. The answer is the same whether or not the destination exists.',
      tag,
      errors: [400, 401, 403, 404, 409, 422, 429, 500, 503],
      success: 202,
      starts: 'site.transfer',
      response: transferSchema,
      body: { resource: 'SiteTransfer', schema: createTransferSchema },
      async handle({ caller, id }, body) {
        const { operationId, ...transfer } = await transfers.request(caller, id('site_id'), body);
        return new Started(operationId, transfer);
      },
    }),
    route({
      method: 'GET',
      path: '/sites/:site_id/site_transfers/:transfer_id',
      operationId: 'getSiteTransfer',
      summary: 'One transfer of a site',
      description: 'Owners and full users of both accounts see a transfer, also after it has ended.',
      tag,
      errors: [401, 403, 404, 429, 500, 503],
      success: 200,
      response: transferSchema,
      handle: ({ caller, id }) => transfers.get(caller, id('site_id'), id('transfer_id')),
    }),
    route({
      method: 'DELETE',
      path: '/sites/:site_id/site_transfers/:transfer_id',
      operationId: 'cancelSiteTransfer',
      summary: 'Cancel a pending or scheduled transfer, or decline it as an owner of the destination',
      description: 'Gets 409 once the transfer has been carried out or has ended otherwise.',
      tag,
      errors: [401, 403, 404, 409, 429, 500, 503],
      success: 204,
      handle: ({ caller, id }) => transfers.cancel(caller, id('site_id'), id('transfer_id')),
    }),
  ];
}
