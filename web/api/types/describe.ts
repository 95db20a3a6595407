import { request } from 'undici';
import { createAgent } from '../../../test/client.ts';

/** The paths of the two OpenAPI descriptions, by the file in `web/api/` that holds their types. */
export const DESCRIPTIONS = {
  'hosting-api.d.ts': '/v1/swagger',
  'portal-api.d.ts': '/portal/api/description',
} as const;

export async function fetchDescription(
  { origin, ca }: { origin: string; ca: string },
  path: string,
): Promise<unknown> {
  const agent = createAgent(ca);
  try {
    const answer = await request(`${origin}${path}`, { dispatcher: agent });
    return await answer.body.json();
  } finally {
    await agent.close();
  }
}
