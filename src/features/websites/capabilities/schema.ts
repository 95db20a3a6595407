import { component, nullableString, stringEnum, Type } from '../../../api/schema.ts';
import { CAPABILITIES } from '../../../hosting/contract/capabilities.ts';

const capabilityExample = {
  name: 'shell' as const,
  title: 'shell by SSH',
  available: false,
  reason: 'The embedded host offers SFTP, without a shell.',
  remedy: 'Use a platform with a Linux host, which offers it.',
};

const capabilitySchema = component(
  'Capability',
  Type.Object(
    {
      name: stringEnum(CAPABILITIES),
      title: Type.String({ description: 'what you get, as a noun phrase' }),
      available: Type.Boolean({ description: 'false: requests that need it are refused' }),
      reason: nullableString('why it is not available, in one sentence; null: it is'),
      remedy: nullableString('how to get it, in one sentence; null: it is available'),
    },
    { description: 'Capabilities of the host of an install' },
  ),
  capabilityExample,
);

export const capabilitiesSchema = component(
  'InstallCapabilities',
  Type.Object(
    { capabilities: Type.Array(capabilitySchema) },
    { description: 'Everything that hosts may do for an install beyond serving and copying its website' },
  ),
  { capabilities: [capabilityExample] },
);
