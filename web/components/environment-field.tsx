import { ENVIRONMENTS, type Environment, environmentLabel, freeEnvironments } from './environments.ts';
import { SelectField } from './fields.tsx';

/** A select with the environments of a site; occupied ones are disabled. Use the site's ID as its key. */
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
            : `${environmentLabel(slot)}: used by ${holder(slot)}`,
          disabled: !free.includes(slot),
        })),
        { value: '', label: environmentLabel(null), disabled: false },
      ]}
    />
  );
}
