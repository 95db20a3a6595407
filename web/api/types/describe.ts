import { request } from 'undici';
import { createAgent } from '../../../test/client.ts';

/** The two descriptions that a running Homeport gives of itself, by the file in `web/api/` that their types are kept in. */
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
