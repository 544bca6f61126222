/**
 * The default rules, in the format of rule files (see policies/rules/README.md). They forbid what no task needs, and ask before a package is
 * published or a push overwrites or deletes other people's work. Everything else is left to the sandbox, the approval mode and your own rules.
 *
 * @example const rules = loadRules([{ path: 'default.rules', layer: 'default', text: defaultRules }])
 */
export const defaultRules = String.raw`
# Commands that no task needs.
prefix_rule(
    pattern = ["rm", "-rf", ["/", "/*", "~", "~/", "~/*"]],
    decision = "forbidden",
    justification = "This deletes the whole system or the whole home folder.",
    match = ["rm -rf /", "rm -rf ~"],
    not_match = ["rm -rf build", "rm -rf ./dist"],
)
prefix_rule(
    pattern = ["chmod", "-R", ["777", "a+rwx"], ["/", "~"]],
    decision = "forbidden",
    justification = "This opens the whole system to everybody.",
    match = ["chmod -R 777 /"],
)

# Commands that publish, and commands that can't be undone.
PUBLISHERS = [
    "npm", "pnpm", "yarn", "bun", "deno", "jsr", "lerna", "vsce", "ovsx", "cargo", "wasm-pack", "poetry", "uv", "hatch", "flit", "pdm", "maturin",
]
prefix_rule(
    pattern = [PUBLISHERS, "publish"],
    decision = "prompt",
    justification = "Publishing a package can't be undone.",
    match = ["npm publish", "cargo publish"],
    not_match = ["npm run publish-docs", "npm test"],
)
prefix_rule(
    pattern = [["twine", "maturin", "cabal", "luarocks", "anaconda", "snapcraft", "conan"], "upload"],
    decision = "prompt",
    justification = "Publishing a package can't be undone.",
)
prefix_rule(
    pattern = [["docker", "podman", "nerdctl", "helm"], "push"],
    decision = "prompt",
    justification = "Others may already use an image before it can be removed.",
)
prefix_rule(
    pattern = ["docker", ["image", "compose", "manifest"], "push"],
    decision = "prompt",
    justification = "Others may already use an image before it can be removed.",
)
prefix_rule(
    pattern = ["gh", "release", ["create", "upload", "edit"]],
    decision = "prompt",
    justification = "Others may already use a release before it can be removed.",
)
prefix_rule(
    pattern = [["mvn", "mvnw"], ["deploy", "release:perform", "deploy:deploy", "deploy:deploy-file"]],
    decision = "prompt",
    justification = "Publishing a package can't be undone.",
)
prefix_rule(
    pattern = [["gradle", "gradlew", "sbt"], ["publish", "publishAllPublicationsToMavenCentral", "publishToSonatype", "publishPlugins", "uploadArchives"]],
    decision = "prompt",
    justification = "Publishing a package can't be undone.",
)
prefix_rule(
    pattern = [["dotnet", "nuget"], ["nuget", "push"]],
    decision = "prompt",
    justification = "Publishing a package can't be undone.",
    not_match = ["dotnet publish"],
)
prefix_rule(
    pattern = ["gem", "push"],
    decision = "prompt",
    justification = "Publishing a package can't be undone.",
)
prefix_rule(
    pattern = ["git", "push", ["--force", "-f", "--mirror", "--delete", "-d", "--force-with-lease"]],
    decision = "prompt",
    justification = "This overwrites or deletes other people's work.",
    match = ["git push --force origin main", "git push -f"],
    not_match = ["git push origin main"],
)
`
