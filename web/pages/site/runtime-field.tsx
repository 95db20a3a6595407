import { useState } from 'react';
import { useInstallOptions } from '../../api/installs.ts';
import { RadioGroup } from '../../components/fields.tsx';

const CHOICES = {
  wordpress: {
    label: 'WordPress',
    hint: 'A finished WordPress with its database. You sign in from the portal, without a password.',
  },
  static: {
    label: 'Static website',
    hint: 'Files that you upload by SFTP, such as HTML pages. Without PHP and database.',
  },
} as const;
type Runtime = keyof typeof CHOICES;

/** Reads the value of {@link RuntimeField}; null leaves the choice to the platform. */
export const runtimeOf = (text: string): Runtime | null =>
  text === 'wordpress' || text === 'static' ? text : null;

/** The choice of what runs a new website; nothing if there is none. The default comes first. */
export function RuntimeField() {
  const { data: options } = useInstallOptions();
  const [chosen, setChosen] = useState<string | null>(null);
  const [first, ...others] = options?.runtimes ?? [];
  if (first === undefined || others.length === 0) return null;
  return (
    <RadioGroup
      label="What it runs"
      name="runtime"
      value={chosen ?? first}
      onValue={setChosen}
      options={[first, ...others].map((value) => ({ value, ...CHOICES[value] }))}
    />
  );
}
