import { ENVIRONMENTS, type Environment, environmentLabel, freeEnvironments } from './environments.ts';
import { SelectField } from './fields.tsx';

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
            ? environmentLabel(slot)
            : `${environmentLabel(slot)}: taken by ${holder(slot)}`,
          disabled: !free.includes(slot),
        })),
        { value: '', label: environmentLabel(null), disabled: false },
      ]}
    />
  );
}
