import { displayNameTexts } from '../../../api/display-name.ts';
import { bodyRoute, type Route, route } from '../../../api/route.ts';
import { nullableString, Type } from '../../../api/schema.ts';
import { createCredentialSchema, credentialSchema, issuedCredentialSchema } from './schema.ts';
import type { CredentialService } from './service.ts';

/**
 * API access in the portal (specification, Authentication). `ownCertificate` gives Homeport's self-signed certificate, if
 * the API uses one.
 */
export function credentialRoutes(
  credentials: CredentialService,
  ownCertificate: () => Promise<string | null>,
): Route[] {
  const tag = 'API access';
  return [
    route({
      method: 'GET',
      path: '/credentials',
      operationId: 'listCredentials',
      summary: 'Your API credentials, latest first',
      tag,
      errors: [401, 403, 429, 503],
      success: 200,
      response: Type.Object({ results: Type.Array(credentialSchema) }),
      handle: async ({ caller }) => ({ results: await credentials.listOwn(caller) }),
    }),
    bodyRoute({
      method: 'POST',
      path: '/credentials',
      operationId: 'createCredential',
      summary: 'Create an API credential; its password is shown only once',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      response: issuedCredentialSchema,
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
      operationId: 'deleteCredential',
      summary: 'Revoke one of your API credentials',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => credentials.revokeOwn(caller, id('credential_id')),
    }),
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
