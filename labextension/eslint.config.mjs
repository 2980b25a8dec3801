import tseslint from 'typescript-eslint';

/** The core runs in a bare page: only the JupyterLab side may know JupyterLab. */
const JUPYTERLAB = {
  group: ['@jupyterlab/*', '@lumino/*', '@jupyter/*'],
  message: 'Only src/index.ts and src/lab/** may import JupyterLab; everything else also runs in a bare page.'
};

export default tseslint.config(
  { ignores: ['lib/**', 'node_modules/**', '.yarn/**', 'src/protocol.ts'] },
  {
    files: ['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.test.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'none' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // Props and hosts are plain objects whose methods are written in the short form; none of them uses `this`.
      '@typescript-eslint/unbound-method': 'off',
      // A type and an interface both say a shape; a wrapper around a union reads better as a type.
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: true }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-restricted-imports': ['error', { patterns: [JUPYTERLAB] }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
          message: 'Put sanitized nodes into the page, not HTML text.'
        }
      ]
    }
  },
  {
    files: ['src/index.ts', 'src/lab/**/*.{ts,tsx}', 'test/host/**/*.{ts,tsx}'],
    rules: { 'no-restricted-imports': 'off' }
  },
  {
    // Shows the SVG text of JupyterLab's own icon registry.
    files: ['src/views/icon.tsx'],
    rules: { 'no-restricted-syntax': 'off' }
  },
  {
    files: ['test/**/*.{ts,tsx}'],
    rules: {
      // Tests look into what a query found; a wrong guess fails the test by itself.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      '@typescript-eslint/require-await': 'off'
    }
  }
);
