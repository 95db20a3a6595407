import { displayNameTexts } from '../../../api/display-name.ts';
import { bodyRoute, pagedRoute, type Route, route } from '../../../api/route.ts';
import { nullableString, Type } from '../../../api/schema.ts';
import { createCredentialSchema, credentialSchema, issuedCredentialSchema } from './schema.ts';
import type { CredentialService } from './service.ts';

const tag = 'API access';

/** API credentials in the API and the portal (docs/api.md, Authentication). */
export function credentialRoutes(credentials: CredentialService): Route[] {
  return [
    pagedRoute({
      path: '/credentials',
      operationId: 'listCredentials',
      summary: 'Your API credentials, latest first',
      description:
        'Lists active credentials, and those that ended in the last 30 days. A credential that is limited to an account or to installs lists only those that reach no more.',
      tag,
      errors: [400, 401, 429, 503],
      item: credentialSchema,
      handle: ({ caller, page }) => credentials.listOwn(caller, page),
    }),
    bodyRoute({
      method: 'POST',
      path: '/credentials',
      operationId: 'createCredential',
      summary: 'Create an API credential; its password is shown only once',
      description:
        'A credential never creates one wider than itself: the new one is limited to the same account and installs or fewer, and expires no later. You are notified by email.',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      response: issuedCredentialSchema,
      location: ({ id }) => `/credentials/${id}`,
      body: {
        resource: 'Credential',
        schema: createCredentialSchema,
        texts: {
          name: {
            ...displayNameTexts('The name'),
            required: { summary: 'Credential name is required', message: 'Give the credential a name' },
          },
        },
      },
      handle: ({ caller }, body) => credentials.issueOwn(caller, body),
    }),
    route({
      method: 'DELETE',
      path: '/credentials/:credential_id',
      operationId: 'revokeCredential',
      summary: 'Revoke one of your API credentials',
      description:
        'Requests with the credential get 401 within 5 seconds. Revoking it again changes nothing. A limited credential revokes only those that it lists.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => credentials.revokeOwn(caller, id('credential_id')),
    }),
  ];
}

/** `ownCertificate` gives Homeport's self-signed certificate, if the API uses one. */
export function apiCertificateRoutes(ownCertificate: () => Promise<string | null>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api_certificate',
      operationId: 'getApiCertificate',
      summary: 'The certificate that API clients must trust',
      tag,
      errors: [401, 403, 429, 503],
      success: 200,
      response: Type.Object({
        certificate: nullableString('PEM, if self-signed; null: clients trust it already'),
      }),
      handle: async () => ({ certificate: await ownCertificate() }),
    }),
  ];
}
