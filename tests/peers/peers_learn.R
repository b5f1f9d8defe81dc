# ranger's side of the benchmarks of perf-predict: Rscript peers_learn.R TRAIN.csv TEST.csv answers each line "fit" or "predict" by the CPU
# seconds of it; the target is the last column. `Rscript peers_learn.R version` names the versions.
suppressMessages(library(ranger))
words <- commandArgs(trailingOnly = TRUE)
if (words[1] == "version") {
    cat(sprintf("ranger %s, R %s.%s\n", packageVersion("ranger"), R.version$major, R.version$minor))
    quit()
}
train <- read.csv(words[1])
test <- read.csv(words[2])
target <- names(train)[ncol(train)]
x <- train[, -ncol(train)]
y <- train[[target]]
z <- test[, -ncol(test)]
input <- file("stdin", open = "r")
model <- NULL
seed <- 0
while (length(line <- readLines(input, n = 1)) > 0) {
    before <- proc.time()
    if (line == "fit") {
        seed <- seed + 1
        model <- ranger(x = x, y = y, num.trees = 100, mtry = ncol(x), min.node.size = 1, num.threads = 1, oob.error = FALSE, seed = seed)
    } else {
        p <- predict(model, z, num.threads = 1)
    }
    used <- proc.time() - before
    cat(sprintf("%.6f\n", used[[1]] + used[[2]]))
    flush(stdout())
}
