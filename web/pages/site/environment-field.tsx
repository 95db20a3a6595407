import { SelectField } from '../../components/fields.tsx';
import { ENVIRONMENTS, type Environment, environmentWord, freeEnvironments } from './environments.ts';

/** Which slot of a site an install shall fill; those that are taken cannot be chosen. Give it the site's id as key. */
export function EnvironmentField({
  site,
  preferred,
}: {
  site: { installs: readonly { name: string; environment: Environment | null }[] } | undefined;
  preferred?: Environment | undefined;
}) {
  const free = freeEnvironments(site?.installs ?? []);
  const first = preferred && free.includes(preferred) ? preferred : site ? free[0] : undefined;
  const holder = (slot: Environment) =>
    site?.installs.find(({ environment }) => environment === slot)?.name ?? '';
  return (
    <SelectField
      label="Environment"
      name="environment"
      defaultValue={first ?? ''}
      options={[
        ...ENVIRONMENTS.map((slot) => ({
          value: slot,
          label: free.includes(slot)
            ? environmentWord(slot)
            : `${environmentWord(slot)}: taken by ${holder(slot)}`,
          disabled: !free.includes(slot),
        })),
        { value: '', label: environmentWord(null), disabled: false },
      ]}
    />
  );
}
