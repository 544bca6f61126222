/** The version of the package that this code belongs to. */
export const version = '0.1.0'
